// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { TraceStatus } from "./TraceStatus";

/**
 * A bundle that this server knows.
 */
export type TraceSummary = {
/**
 * The bundle: a directory, or one file.
 */
path: AbsolutePath,
/**
 * The trace id in the manifest of the bundle.
 */
traceId: string,
/**
 * Id of the thread with which the recording began.
 */
rootThreadId: string,
/**
 * Start of the recording in Unix milliseconds.
 */
startedAtMs: number,
/**
 * Whether it is still being recorded.
 */
status: TraceStatus,
/**
 * Ids of the threads in it that the server knows: first the root, then its agents.
 */
threadIds: Array<string>, };
