// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Where a review takes place.
 */
export type ReviewDelivery = "inline";
