// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Params of `trace/read`. Exactly one of `threadId` and `tracePath` must be set.
 */
export type TraceReadParams = {
/**
 * Id of a thread whose trace is read.
 */
threadId?: string | null,
/**
 * Path of a bundle, from `trace/list`.
 */
tracePath?: AbsolutePath | null,
/**
 * Whether `state` has the compact form, in which the lists of items are ranges of shared lines.
 */
compact?: boolean | null, };
