// Made by `trace schema --ts` from the server's types. Changes here are lost.
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
 * Id of the message, chosen by the client. The user message item contains it.
 */
clientUserMessageId?: string | null, };
