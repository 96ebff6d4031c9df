// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `account/bedrock/checkGovCloudRequirements`.
 */
export type BedrockCheckGovCloudRequirementsResponse = {
/**
 * Whether the account is in a government cloud.
 */
isGovCloud: boolean,
/**
 * Whether the client should warn the user.
 */
shouldWarn: boolean, };
