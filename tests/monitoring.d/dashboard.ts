// SPDX-License-Identifier: GPL-2.0-only
// The type of packaging/monitoring/grafana.json, made of the types that Grafana publishes. A dashboard has panels of any
// kind, with any options; here each panel has the options of its kind. tests/monitoring has tsc compare.
import { Dashboard, Panel, Query, SeriesField, SeriesOptions, StatOptions } from './grafana';

// JSON has the value of an enumeration, and not its name. Of options, a panel may leave out what has a default.
type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Part<T> = T extends object ? { [K in keyof T]?: Part<T[K]> } : T;

type Fields<Custom> = Omit<NonNullable<Panel['fieldConfig']>, 'defaults'> & {
	defaults: Omit<NonNullable<Panel['fieldConfig']>['defaults'], 'custom'> & { custom?: Part<Custom> };
};
type PanelOf<Kind, Options, Custom> = Omit<Panel, 'type' | 'options' | 'fieldConfig' | 'targets'> & {
	type: Kind;
	options: Part<Options>;
	fieldConfig: Fields<Custom>;
	targets: Query[];
};

export type Board = Plain<
	Omit<Dashboard, 'panels'> & {
		panels: Array<PanelOf<'stat', StatOptions, {}> | PanelOf<'timeseries', SeriesOptions, SeriesField>>;
	}
>;
