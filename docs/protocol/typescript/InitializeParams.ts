// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ClientInfo } from "./ClientInfo";
import type { InitializeCapabilities } from "./InitializeCapabilities";

/**
 * Params of `initialize`.
 */
export type InitializeParams = {
/**
 * Who the client is.
 */
clientInfo: ClientInfo,
/**
 * What the client can do and wants.
 */
capabilities?: InitializeCapabilities | null, };
