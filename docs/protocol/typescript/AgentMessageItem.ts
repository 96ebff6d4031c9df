// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AgentMessageDelivery } from "./AgentMessageDelivery";
import type { AgentMessageModeration } from "./AgentMessageModeration";
import type { AsyncUserInputQuestion } from "./AsyncUserInputQuestion";
import type { MemoryCitation } from "./MemoryCitation";
import type { MessagePhase } from "./MessagePhase";

/**
 * A message of the model.
 */
export type AgentMessageItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The text.
 */
text: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * How it reaches the user if it is not the answer of the turn.
 */
delivery?: AgentMessageDelivery | null,
/**
 * Memories that the message cites.
 */
memoryCitation?: MemoryCitation | null,
/**
 * The decision of the moderation.
 */
moderation?: AgentMessageModeration | null,
/**
 * Role of the message within its turn.
 */
phase?: MessagePhase | null,
/**
 * The questions.
 */
questions?: Array<AsyncUserInputQuestion> | null, };
