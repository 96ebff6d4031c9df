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
 * The id.
 */
id: string,
/**
 * The effort that is used when nobody says anything.
 */
defaultReasoningEffort: string,
/**
 * What it is good for.
 */
description: string,
/**
 * The name, for people.
 */
displayName: string,
/**
 * Whether clients leave it out of their lists.
 */
hidden: boolean,
/**
 * Whether it is used when nobody says anything.
 */
isDefault: boolean,
/**
 * The model.
 */
model: string,
/**
 * The efforts on offer.
 */
supportedReasoningEfforts: Array<ReasoningEffortOption>,
/**
 * Names of service levels, in the older form.
 */
additionalSpeedTiers?: Array<string> | null,
/**
 * What is told to somebody who sees the model for the first time.
 */
availabilityNux?: ModelAvailabilityNux | null,
/**
 * The programs that it can be used under.
 */
availableAccessPrograms?: ModelAccessPrograms | null,
/**
 * The service level that is used when nobody says anything.
 */
defaultServiceTier?: string | null,
/**
 * What it takes.
 */
inputModalities?: Array<InputModality> | null,
/**
 * What it is made for.
 */
modelSpecialty?: string | null,
/**
 * The generation of collaboration tools that it knows.
 */
multiAgentVersion?: MultiAgentVersion | null,
/**
 * The levels of service on offer.
 */
serviceTiers?: Array<ModelServiceTier> | null,
/**
 * Whether its tone can be chosen.
 */
supportsPersonality?: boolean | null,
/**
 * The model that should be used instead.
 */
upgrade?: string | null,
/**
 * The model that should be used instead, and why.
 */
upgradeInfo?: ModelUpgradeInfo | null, };
