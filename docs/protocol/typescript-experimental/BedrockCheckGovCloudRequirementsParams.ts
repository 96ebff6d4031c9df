// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `account/bedrock/checkGovCloudRequirements`.
 */
export type BedrockCheckGovCloudRequirementsParams = Record<symbol, never>;
