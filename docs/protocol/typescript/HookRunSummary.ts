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
 * The id.
 */
id: string,
/**
 * Where it stands among the others.
 */
displayOrder: number,
/**
 * What the hook had to say.
 */
entries: Array<HookOutputEntry>,
/**
 * What it is called at.
 */
eventName: HookEventName,
/**
 * Whether the server waits for it.
 */
executionMode: HookExecutionMode,
/**
 * What kind of thing it runs.
 */
handlerType: HookHandlerType,
/**
 * What the run belongs to.
 */
scope: HookScope,
/**
 * The file that it is configured in.
 */
sourcePath: string,
/**
 * When it began.
 */
startedAt: number,
/**
 * How far it is, or what became of it.
 */
status: HookRunStatus,
/**
 * When it ended.
 */
completedAt?: number | null,
/**
 * How long it took, in milliseconds.
 */
durationMs?: number | null,
/**
 * Where it comes from.
 */
source?: HookSource | null,
/**
 * What is shown while it runs.
 */
statusMessage?: string | null, };
