// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookEventName } from "./HookEventName";
import type { HookExecutionMode } from "./HookExecutionMode";
import type { HookHandlerType } from "./HookHandlerType";
import type { HookOutputEntry } from "./HookOutputEntry";
import type { HookRunStatus } from "./HookRunStatus";
import type { HookScope } from "./HookScope";
import type { HookSource } from "./HookSource";

/**
 * A run of a hook.
 */
export type HookRunSummary = {
/**
 * Id of the run.
 */
id: string,
/**
 * Position among the other hooks.
 */
displayOrder: number,
/**
 * Outputs of the hook.
 */
entries: Array<HookOutputEntry>,
/**
 * The event at which the hook runs.
 */
eventName: HookEventName,
/**
 * Whether the server waits for it.
 */
executionMode: HookExecutionMode,
/**
 * What it runs.
 */
handlerType: HookHandlerType,
/**
 * What the run belongs to.
 */
scope: HookScope,
/**
 * The file that configures the hook.
 */
sourcePath: string,
/**
 * Start time.
 */
startedAt: number,
/**
 * The status.
 */
status: HookRunStatus,
/**
 * End time. `null` while the hook runs.
 */
completedAt?: number | null,
/**
 * Duration in milliseconds.
 */
durationMs?: number | null,
/**
 * Where the hook is configured.
 */
source?: HookSource | null,
/**
 * Message that is shown while it runs.
 */
statusMessage?: string | null, };
