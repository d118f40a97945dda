import { type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { signInCodes } from '../../db/schema/accounts.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { insertWhere } from '../../db/write.ts'
import { deriveSignInCode } from '../../domain/accounts/sign-in.ts'
import { compile, type Template } from '../../domain/email/compile.ts'
import { buildSignInMessage } from '../../domain/email/messages/sign-in-code.ts'
import type { Language } from '../../domain/languages.ts'
import type { EmailClaim } from './claim.ts'
import { buildNewEmail } from './email-state.ts'

/**
 * Add this statement after the one that stores the code. It writes no message unless the code was stored and belongs to
 * an account. Call `enqueueEmails` afterwards.
 */
export const buildSignInCodeEmail = (
  ctx: Pick<Ctx, 'config' | 'newId' | 'now'>,
  { codeId, recipient, language }: { codeId: string; recipient: string; language: Language },
): SQL =>
  insertWhere(
    transactionalEmails,
    {
      ...buildNewEmail(ctx),
      kind: 'sign_in_code',
      sign_in_code_id: codeId,
      recipient,
      language,
    },
    sql`exists (select 1 from sign_in_codes where id = ${codeId} and account_id is not null)`,
  )

/** Deletes the messages of these codes, before the codes are deleted. */
export const buildSignInEmailDeletion = (codeIds: SQL): SQL =>
  sql`delete from transactional_emails where sign_in_code_id in (${codeIds})`

/** The message is written again for each attempt, so that its code is stored nowhere. Null: the code has ended. */
export async function compileSignInEmail(job: JobCtx, claim: EmailClaim): Promise<Template | null> {
  const { language, sign_in_code_id: id } = claim
  const [row] = await job.db.all(sql<{ id: string; salt: string }>`select id, salt from ${signInCodes}
    where id = ${id} and used_at is null and expires_at > ${job.now()}`)
  if (!row) return null
  const { linkSigningKey, publicUrl, emailFrom } = job.config
  const sender = emailFrom.name ?? emailFrom.address
  const service = URL.canParse(publicUrl) ? new URL(publicUrl).host : sender
  const message = buildSignInMessage(language, { service, code: deriveSignInCode(linkSigningKey, row) })
  return compile(message, language, { defaultLanguage: language, title: sender, sender: service })
}
