// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `plugin/installed`.
 */
export type PluginInstalledParams = {
/**
 * The directories to look in; without any, that of the server.
 */
cwds?: Array<AbsolutePath> | null,
/**
 * Plugins that the client might suggest.
 */
installSuggestionPluginNames?: Array<string> | null, };
