// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * Params of `thread/queue/update`.
 */
export type ThreadQueueUpdateParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * What the user says.
 */
input: Array<UserInput>,
/**
 * The prompt that waits.
 */
queuedSubmissionId: string,
/**
 * Texts that go to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null, };
