// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ProviderSettings } from "./ProviderSettings";

/**
 * A model provider of the configuration.
 */
export type ModelProviderSummary = {
/**
 * The id.
 */
id: string,
/**
 * Whether it can be changed.
 */
canEdit: boolean,
/**
 * The name.
 */
name: string,
/**
 * What it sets.
 */
settings: ProviderSettings,
/**
 * The address of the provider.
 */
baseUrl?: string | null, };
