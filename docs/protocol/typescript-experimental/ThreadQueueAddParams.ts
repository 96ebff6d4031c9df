// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * Params of `thread/queue/add`.
 */
export type ThreadQueueAddParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the message, chosen by the client. The user message item contains it.
 */
clientUserMessageId: string,
/**
 * Input of the user.
 */
input: Array<UserInput>,
/**
 * Metadata that is sent to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null, };
