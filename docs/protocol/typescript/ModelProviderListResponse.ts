// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModelProviderSummary } from "./ModelProviderSummary";

/**
 * Result of `modelProvider/list`.
 */
export type ModelProviderListResponse = {
/**
 * Whether another provider can be made the default.
 */
canChangeDefault: boolean,
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<ModelProviderSummary>,
/**
 * The provider that is used when nobody says anything.
 */
defaultProviderId: string, };
