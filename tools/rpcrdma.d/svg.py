class Picture:
    pass
