// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModelProviderSummary } from "./ModelProviderSummary";

/**
 * Result of `modelProvider/list`.
 */
export type ModelProviderListResponse = {
/**
 * Whether the default provider can be changed.
 */
canChangeDefault: boolean,
/**
 * The requested entries.
 */
data: Array<ModelProviderSummary>,
/**
 * Id of the default provider.
 */
defaultProviderId: string, };
