// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `trace/read`. Exactly one of the two fields must be set.
 */
export type TraceReadParams = {
/**
 * Id of a thread whose trace is read.
 */
threadId?: string | null,
/**
 * Directory of a bundle, from `trace/list`.
 */
tracePath?: AbsolutePath | null, };
