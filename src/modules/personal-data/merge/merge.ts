import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { mergeUserValues, listValueCollisions, type MergeCollision } from '../../../domain/accounts/merged-users.ts'
import { AppError, doesNotExist, fieldError, invalid } from '../../../domain/errors.ts'
import { toIso } from '../../../domain/time/instants.ts'
import {
  answerRaces,
  buildConsentMergeAnnouncements,
  listConsentCollisions,
  planConsentMerge,
} from '../../consents/index.ts'
import { buildUserEvent, compareContacts, findUser, type LoadedUser, presentUser } from '../../users/index.ts'
import { announceAll, type Announcement } from '../../webhooks/index.ts'
import type { MergeUsersInput } from '../contract.ts'
import { loadMergeFacts, type MovedCounts, type UserPair } from './merge-queries.ts'
import { buildMergeStatements, listEarlierAddresses, mergeEditions, type MergePlan } from './merge-statements.ts'

export interface UserMerge {
  /** The customer after the merge. */
  user: LoadedUser
  other: LoadedUser
  dry_run: boolean
  moved: MovedCounts
  earlierAddresses: MergePlan['earlierAddresses']
  collisions: readonly MergeCollision[]
  /** The values in which the audit log finds what changed. */
  storedValues: { before: Record<string, unknown>; after: Record<string, unknown> }
}

async function findOther(ctx: Ctx, own: LoadedUser, id: string): Promise<LoadedUser> {
  if (id === own.id)
    throw invalid(fieldError(['user_id'], 'invalid_choice', 'A customer cannot be merged into themselves.'))
  const other = await findUser(ctx, id).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') throw doesNotExist('user_id')
    throw error
  })
  if (other.organization_id !== own.organization_id) throw doesNotExist('user_id')
  return other
}

const listCollisions = ({ own, other, facts, consents, sharedEditions }: MergePlan): MergeCollision[] => [
  ...listValueCollisions(own, other),
  ...sharedEditions.map(({ own: { edition_id } }): MergeCollision => ({
    type: 'edition',
    name: edition_id,
    kept: null,
    dropped: null,
  })),
  ...listConsentCollisions(consents).map((collision): MergeCollision => ({ type: 'consent', ...collision })),
  ...facts.campaigns.map((name): MergeCollision => ({ type: 'campaign', name, kept: null, dropped: null })),
]

/** Roles of an edition learn of its own values alone, and of the end of customers whom it has. */
function buildAnnouncements(plan: MergePlan, now: number): Announcement[] {
  const { own, other, values, consents, facts, sharedEditions } = plan
  const { id: user_id, organization_id } = own
  const editions = facts.otherEditions.map(({ edition_id }) => edition_id)
  const getEmail = (editionId: string | null): string | null => {
    if (editionId === null) return values.email
    const shared = sharedEditions.find((edition) => edition.own.edition_id === editionId)?.values
    const row = shared ?? [...facts.ownEditions, ...facts.otherEditions].find((one) => one.edition_id === editionId)
    return row?.email ?? null
  }
  return [
    ...[null, ...editions].map((edition_id): Announcement => ({
      kind: 'user.merged',
      organization_id,
      edition_id,
      data: { user: { api_id: other.id }, merged_into: { api_id: user_id }, occurred_at: toIso(now) },
    })),
    ...buildUserEvent({ user_id, organization_id, edition_id: null }, compareContacts(own, { ...own, ...values }), now),
    ...sharedEditions.flatMap((edition) =>
      buildUserEvent(
        { user_id, organization_id, edition_id: edition.own.edition_id },
        compareContacts(edition.own, edition.values),
        now,
      ),
    ),
    ...buildConsentMergeAnnouncements(user_id, consents, getEmail),
  ]
}

async function planMerge(ctx: Ctx, pair: UserPair): Promise<MergePlan> {
  const facts = await loadMergeFacts(ctx, pair)
  const values = mergeUserValues(pair.own, pair.other)
  const sharedEditions = mergeEditions(facts)
  return {
    ...pair,
    facts,
    values,
    consents: await planConsentMerge(ctx, { id: pair.own.id, other_id: pair.other.id }),
    sharedEditions,
    earlierAddresses: listEarlierAddresses(pair, values, sharedEditions),
  }
}

/**
 * Merges another customer of the organisation into this one, in one transaction. Nothing of the other customer is lost
 * to a request at the same time: what refers to them makes the request or the merge start again.
 */
export async function mergeUsers(ctx: Ctx, own: LoadedUser, input: MergeUsersInput): Promise<UserMerge> {
  const { user_id, dry_run } = input
  const other = await findOther(ctx, own, user_id)
  if (own.erased_at !== null || other.erased_at !== null)
    throw new AppError('user_erased', 'One of these customers was erased.')
  const now = ctx.now()
  const plan = await planMerge(ctx, { own, other })
  const user: LoadedUser = dry_run ? own : { ...own, ...plan.values, version: own.version + 1 }
  const result: UserMerge = {
    user: { ...own, ...plan.values, version: user.version },
    other,
    dry_run,
    moved: plan.facts.counts,
    earlierAddresses: plan.earlierAddresses,
    collisions: listCollisions(plan),
    storedValues: {
      before: presentUser(own),
      after: { ...presentUser(user), merged_user_id: other.id },
    },
  }
  if (dry_run) return commit(ctx, result, [])
  const statements = [...buildMergeStatements(plan, now), ...announceAll(ctx, buildAnnouncements(plan, now))]
  return commit(ctx, result, statements, answerRaces)
}
