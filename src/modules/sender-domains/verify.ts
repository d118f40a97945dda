import { and, eq, ne } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { senderDomains } from '../../db/schema/sender-domains.ts'
import { updateVersion } from '../../db/write.ts'
import { AppError, fieldError, LostRace, permissionDenied } from '../../domain/errors.ts'
import {
  type CheckOutcome,
  isProofGone,
  checkOwnership,
  buildOwnershipRecord,
  type SenderDomainVerifier,
  type TxtLookup,
} from '../../domain/messaging/sender-domains.ts'
import type { VerifySenderDomainInput } from './contract.ts'
import { isVerified, type SenderDomainRow, selectSenderDomains } from './queries.ts'

type DomainChanges = Partial<SenderDomainRow>

const domainHeldElsewhere = () =>
  new AppError('sender_domain_taken', 'Another organisation has verified this domain, and its DNS record still exists.')

/** Another organisation verified the domain between the check and the commit, so the request is decided again. */
const verifiedMeanwhile = () => new LostRace('the domain was verified meanwhile')

const buildVerifiedColumns = (row: SenderDomainRow, by: SenderDomainVerifier, now: number): DomainChanges => ({
  status: 'verified',
  verified_by: by,
  verified_at: row.status === 'verified' ? row.verified_at : now,
})

const pendingColumns: DomainChanges = { status: 'pending', verified_by: null, verified_at: null }

const findHolder = (ctx: Ctx, row: SenderDomainRow): Promise<SenderDomainRow | undefined> => {
  const { id, domain } = senderDomains
  return ctx.db.first(selectSenderDomains().where(and(eq(domain, row.domain), isVerified, ne(id, row.id))))
}

/** Takes a domain from another organisation whose record is gone. Refuses while the record exists. */
async function releaseFromHolder(ctx: Ctx, row: SenderDomainRow, lookup: TxtLookup | null): Promise<Statement[]> {
  const holder = await findHolder(ctx, row)
  if (!holder) return []
  if (lookup === null || holder.verified_by === 'superuser') throw domainHeldElsewhere()
  const outcome = checkOwnership(lookup, holder)
  if (!isProofGone(outcome)) throw domainHeldElsewhere()
  const now = ctx.now()
  return updateVersion(senderDomains, holder, {
    ...pendingColumns,
    checked_at: now,
    check_outcome: outcome,
    modified_at: now,
  })
}

const commitCheck = (
  ctx: Ctx,
  row: SenderDomainRow,
  changes: DomainChanges,
  releaseStatements: Statement[],
): Promise<SenderDomainRow> => {
  const columns = { ...changes, modified_at: ctx.now() }
  const updatedRow = { ...row, ...columns, version: row.version + 1 }
  return commit(ctx, updatedRow, [...releaseStatements, ...updateVersion(senderDomains, row, columns)], {
    'sender_domains.domain': verifiedMeanwhile,
  })
}

/**
 * Asks the e-mail provider about a domain whose ownership is proved. A provider without domains accepts every domain.
 */
async function checkAtProvider(
  ctx: Ctx,
  row: SenderDomainRow,
): Promise<{ outcome: CheckOutcome; providerColumns: DomainChanges }> {
  const { domains } = ctx.email
  if (!domains) return { outcome: 'verified', providerColumns: {} }
  const domain = await domains.check(row.domain, row.provider_domain_id)
  if (!domain) return { outcome: 'provider_unavailable', providerColumns: {} }
  const providerColumns = { provider_domain_id: domain.id, provider_records: domain.records }
  return { outcome: domain.is_verified ? 'verified' : 'provider_pending', providerColumns }
}

/** Builds the changes that follow from a check. Without a response from DNS the status stays. */
function buildChanges(row: SenderDomainRow, outcome: CheckOutcome, now: number): DomainChanges {
  const checkColumns = { checked_at: now, check_outcome: outcome }
  if (outcome === 'verified')
    return row.verified_by === 'superuser'
      ? checkColumns
      : { ...checkColumns, ...buildVerifiedColumns(row, 'dns', now) }
  return isProofGone(outcome) && row.verified_by === 'dns' ? { ...checkColumns, ...pendingColumns } : checkColumns
}

export async function verifySenderDomain(
  ctx: Ctx,
  row: SenderDomainRow,
  input: VerifySenderDomainInput,
): Promise<SenderDomainRow> {
  if (input.by_hand) {
    if (!ctx.caller.is_superuser)
      throw permissionDenied(
        [],
        [fieldError(['by_hand'], 'superuser_only', 'Only the superuser can verify a domain by hand.')],
      )
    return commitCheck(
      ctx,
      row,
      buildVerifiedColumns(row, 'superuser', ctx.now()),
      await releaseFromHolder(ctx, row, null),
    )
  }
  const lookup = await ctx.dns.lookUpTxt(buildOwnershipRecord(row).name)
  const proof = checkOwnership(lookup, row)
  if (proof !== 'verified') return commitCheck(ctx, row, buildChanges(row, proof, ctx.now()), [])
  const releaseStatements = await releaseFromHolder(ctx, row, lookup)
  // Only a proved domain is added to the provider's account, so nobody can add the domain of somebody else.
  const { outcome, providerColumns } = await checkAtProvider(ctx, row)
  const changes = { ...buildChanges(row, outcome, ctx.now()), ...providerColumns }
  return commitCheck(ctx, row, changes, outcome === 'verified' ? releaseStatements : [])
}
