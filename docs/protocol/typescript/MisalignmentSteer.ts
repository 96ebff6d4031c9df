// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a turn can go on after that.
 */
export type MisalignmentSteer = {
/**
 * What there is to say.
 */
message: string, };
