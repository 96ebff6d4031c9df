// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { InputModality } from "./InputModality";
import type { ModelAccessPrograms } from "./ModelAccessPrograms";
import type { ModelAvailabilityNux } from "./ModelAvailabilityNux";
import type { ModelServiceTier } from "./ModelServiceTier";
import type { ModelUpgradeInfo } from "./ModelUpgradeInfo";
import type { MultiAgentVersion } from "./MultiAgentVersion";
import type { ReasoningEffortOption } from "./ReasoningEffortOption";

/**
 * A model that can be chosen.
 */
export type Model = {
/**
 * Id of the model.
 */
id: string,
/**
 * The default reasoning effort.
 */
defaultReasoningEffort: string,
/**
 * What the model is good for.
 */
description: string,
/**
 * Display name.
 */
displayName: string,
/**
 * Whether clients leave it out of their lists.
 */
hidden: boolean,
/**
 * Whether it is the default model.
 */
isDefault: boolean,
/**
 * Name of the model.
 */
model: string,
/**
 * The reasoning efforts that can be chosen.
 */
supportedReasoningEfforts: Array<ReasoningEffortOption>,
/**
 * Names of service tiers, in the older form.
 */
additionalSpeedTiers?: Array<string> | null,
/**
 * Message for users who see the model for the first time.
 */
availabilityNux?: ModelAvailabilityNux | null,
/**
 * Access programs under which the model can be used.
 */
availableAccessPrograms?: ModelAccessPrograms | null,
/**
 * The default service tier.
 */
defaultServiceTier?: string | null,
/**
 * Kinds of input that the model accepts.
 */
inputModalities?: Array<InputModality> | null,
/**
 * What the model is specialized in.
 */
modelSpecialty?: string | null,
/**
 * Version of the collaboration tools that the model knows.
 */
multiAgentVersion?: MultiAgentVersion | null,
/**
 * The service tiers that can be chosen.
 */
serviceTiers?: Array<ModelServiceTier> | null,
/**
 * Whether its personality can be chosen.
 */
supportsPersonality?: boolean | null,
/**
 * The model that should be used instead.
 */
upgrade?: string | null,
/**
 * Details about the model that should be used instead.
 */
upgradeInfo?: ModelUpgradeInfo | null, };
