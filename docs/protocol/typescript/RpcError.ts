// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * The error of an answer.
 */
export type RpcError = {
/**
 * One of the codes of this module; other numbers come from other servers.
 */
code: number,
/**
 * What is wrong, for people.
 */
message: string,
/**
 * What is wrong, for programs.
 */
data?: JsonValue, };
