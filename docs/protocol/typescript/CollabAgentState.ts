// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CollabAgentStatus } from "./CollabAgentStatus";

/**
 * State of another agent.
 */
export type CollabAgentState = {
/**
 * The status.
 */
status: CollabAgentStatus,
/**
 * The message for people.
 */
message?: string | null, };
