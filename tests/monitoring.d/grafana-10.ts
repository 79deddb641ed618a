// SPDX-License-Identifier: GPL-2.0-only
// Where version 10 of @grafana/schema has the types that dashboard.ts uses. It is the last one with those of queries.
export { Dashboard, Panel } from '@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen';
export { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
export {
	Options as SeriesOptions,
	FieldConfig as SeriesField,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
export {
	PrometheusDataQuery as Query,
} from '@grafana/schema/dist/esm/raw/composable/prometheus/dataquery/x/PrometheusDataQuery_types.gen';
