// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `trace/read`; exactly one of the two fields is set.
 */
export type TraceReadParams = {
/**
 * A thread, whose trace is read.
 */
threadId?: string | null,
/**
 * The directory of a bundle, out of `trace/list`.
 */
tracePath?: AbsolutePath | null, };
