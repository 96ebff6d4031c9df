// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ProviderSettings } from "./ProviderSettings";

/**
 * A model provider of the configuration.
 */
export type ModelProviderSummary = {
/**
 * Id of the provider.
 */
id: string,
/**
 * Whether it can be edited.
 */
canEdit: boolean,
/**
 * Name of the provider.
 */
name: string,
/**
 * Settings of the provider.
 */
settings: ProviderSettings,
/**
 * Base URL of the provider.
 */
baseUrl?: string | null, };
