// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { TraceStatus } from "./TraceStatus";

/**
 * One bundle that this server knows.
 */
export type TraceSummary = {
/**
 * The directory of the bundle.
 */
path: AbsolutePath,
/**
 * The id that the bundle's manifest gives.
 */
traceId: string,
/**
 * The thread that the recording began with.
 */
rootThreadId: string,
/**
 * When the recording began, in Unix milliseconds.
 */
startedAtMs: number,
/**
 * Whether it still grows.
 */
status: TraceStatus,
/**
 * The threads in it, as far as the server knows them: the root first, then its agents.
 */
threadIds: Array<string>, };
