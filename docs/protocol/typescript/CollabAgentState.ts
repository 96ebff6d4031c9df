// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CollabAgentStatus } from "./CollabAgentStatus";

/**
 * The state of another agent.
 */
export type CollabAgentState = {
/**
 * How far it is, or what became of it.
 */
status: CollabAgentStatus,
/**
 * What there is to say.
 */
message?: string | null, };
