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
 * The id.
 */
id: string,
/**
 * The text.
 */
text: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * How it reaches the user, if not as an answer.
 */
delivery?: AgentMessageDelivery | null,
/**
 * What of its memory it goes back to.
 */
memoryCitation?: MemoryCitation | null,
/**
 * What a moderator decided.
 */
moderation?: AgentMessageModeration | null,
/**
 * What it is within its turn.
 */
phase?: MessagePhase | null,
/**
 * The questions.
 */
questions?: Array<AsyncUserInputQuestion> | null, };
