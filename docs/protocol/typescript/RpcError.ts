// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * The error of an error response.
 */
export type RpcError = {
/**
 * One of the codes of this module. Other servers may use other codes.
 */
code: number,
/**
 * Error message for people.
 */
message: string,
/**
 * Details for programs.
 */
data?: JsonValue, };
