// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * Params of `thread/queue/update`.
 */
export type ThreadQueueUpdateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Input of the user.
 */
input: Array<UserInput>,
/**
 * Id of the queued prompt.
 */
queuedSubmissionId: string,
/**
 * Metadata that is sent to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null, };
