import { and, eq, ne } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { senderDomains } from '../../db/schema/messaging/sender-domains.ts'
import { updateVersion } from '../../db/write.ts'
import { AppError, fieldError, LostRace, permissionDenied } from '../../domain/errors.ts'
import {
  type CheckOutcome,
  isProofGone,
  outcomeOf,
  ownershipRecord,
  type SenderDomainVerifier,
  type TxtAnswer,
} from '../../domain/messaging/sender-domains.ts'
import type { VerifySenderDomainInput } from './contract.ts'
import { type SenderDomainRow, selectSenderDomains } from './queries.ts'
import { isVerified } from './verified.ts'

type DomainChanges = Partial<SenderDomainRow>

const taken = () =>
  new AppError('sender_domain_taken', 'Another organisation has verified this domain, and its record still exists.')

/** Another organisation verified the domain between the check and the commit. The next try finds which. */
const takenMeanwhile = () => new LostRace('the domain was verified meanwhile')

const asVerified = (row: SenderDomainRow, by: SenderDomainVerifier, now: number): DomainChanges => ({
  status: 'verified',
  verified_by: by,
  verified_at: row.status === 'verified' ? row.verified_at : now,
})

const asPending: DomainChanges = { status: 'pending', verified_by: null, verified_at: null }

const holderOf = (ctx: Ctx, row: SenderDomainRow): Promise<SenderDomainRow | undefined> => {
  const { id, domain } = senderDomains
  return ctx.db.first(selectSenderDomains().where(and(eq(domain, row.domain), isVerified, ne(id, row.id))))
}

/** Takes the domain from the organisation that has it, whose proof is gone; refuses while there is one. */
async function release(ctx: Ctx, row: SenderDomainRow, answer: TxtAnswer | null): Promise<Statement[]> {
  const holder = await holderOf(ctx, row)
  if (!holder) return []
  if (answer === null || holder.verified_by === 'superuser') throw taken()
  const outcome = outcomeOf(answer, holder)
  if (!isProofGone(outcome)) throw taken()
  const now = ctx.now()
  return updateVersion(senderDomains, holder, {
    ...asPending,
    checked_at: now,
    check_outcome: outcome,
    modified_at: now,
  })
}

const write = (
  ctx: Ctx,
  row: SenderDomainRow,
  changes: DomainChanges,
  released: Statement[],
): Promise<SenderDomainRow> => {
  const all = { ...changes, modified_at: ctx.now() }
  const result = { ...row, ...all, version: row.version + 1 }
  return commit(ctx, result, [...released, ...updateVersion(senderDomains, row, all)], {
    'sender_domains.domain': takenMeanwhile,
  })
}

/** The check of a proved domain by the provider that sends. A provider without domains accepts it at once. */
async function checkAtProvider(
  ctx: Ctx,
  row: SenderDomainRow,
): Promise<{ outcome: CheckOutcome; known: DomainChanges }> {
  const { domains } = ctx.email
  if (!domains) return { outcome: 'verified', known: {} }
  const found = await domains.check(row.domain, row.provider_domain_id)
  if (!found) return { outcome: 'provider_unavailable', known: {} }
  const known = { provider_domain_id: found.id, provider_records: found.records }
  return { outcome: found.is_verified ? 'verified' : 'provider_pending', known }
}

/** The change of the domain by a check. Without an answer of the name system nothing changes. */
function changesOf(row: SenderDomainRow, outcome: CheckOutcome, now: number): DomainChanges {
  const checked = { checked_at: now, check_outcome: outcome }
  if (outcome === 'verified')
    return row.verified_by === 'superuser' ? checked : { ...checked, ...asVerified(row, 'dns', now) }
  return isProofGone(outcome) && row.verified_by === 'dns' ? { ...checked, ...asPending } : checked
}

export async function verifySenderDomain(
  ctx: Ctx,
  row: SenderDomainRow,
  input: VerifySenderDomainInput,
): Promise<SenderDomainRow> {
  if (input.by_hand) {
    if (!ctx.caller.is_superuser)
      throw permissionDenied([], [fieldError(['by_hand'], 'superuser_only', 'Only the superuser verifies by hand.')])
    return write(ctx, row, asVerified(row, 'superuser', ctx.now()), await release(ctx, row, null))
  }
  const answer = await ctx.dns.lookUpTxt(ownershipRecord(row).name)
  const proof = outcomeOf(answer, row)
  if (proof !== 'verified') return write(ctx, row, changesOf(row, proof, ctx.now()), [])
  const released = await release(ctx, row, answer)
  // Not before the proof: no organisation adds the domains of others to the account.
  const { outcome, known } = await checkAtProvider(ctx, row)
  const changes = { ...changesOf(row, outcome, ctx.now()), ...known }
  return write(ctx, row, changes, outcome === 'verified' ? released : [])
}
