// SPDX-License-Identifier: GPL-2.0-only
// Where version 13 of @grafana/schema has the types that dashboard.ts uses. It has none for queries of Prometheus.
export { Dashboard, Panel } from '@grafana/schema/dist/types/raw/dashboard/x/types.gen';
export { Options as StatOptions } from '@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen';
export {
	Options as SeriesOptions,
	FieldConfig as SeriesField,
} from '@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen';
export type Query = Record<string, unknown>;
