// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalContextEntry } from "./AdditionalContextEntry";
import type { UserInput } from "./UserInput";

/**
 * Params of `turn/steer`.
 */
export type TurnSteerParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn that the client believes to be running.
 */
expectedTurnId: string,
/**
 * Input of the user.
 */
input: Array<UserInput>,
/**
 * Texts in addition to the input, by names that the client chose.
 */
additionalContext?: { [key in string]: AdditionalContextEntry } | null,
/**
 * Id of the message, chosen by the client. The user message item contains it.
 */
clientUserMessageId?: string | null,
/**
 * Metadata that is sent to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null,
/**
 * Changes of the metadata that is sent to the model provider.
 */
responsesapiClientMetadataPatch?: { [key in string]: string } | null, };
