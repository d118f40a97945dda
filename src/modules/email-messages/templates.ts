import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import {
  compile,
  type CompileOptions,
  compilerVersion,
  type Compiled,
  type Message,
} from '../../domain/email/compile.ts'
import { blocksShown } from '../../domain/email/blocks/images.ts'
import { readerFor } from '../../domain/email/liquid/translations.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'

interface TemplateSource {
  subject: string
  blocks: string
  default_language: Language | null
  organization_name: string | null
  edition_name: string | null
  sender_name: string | null
}

interface Stored {
  content_hash: string
  stored_subject: string
  html: string
  text: string
}

/** Whose message it is, as its frame says it. */
export const framing = (source: Omit<TemplateSource, 'subject' | 'blocks'>): CompileOptions => ({
  defaultLanguage: source.default_language ?? 'en',
  title: source.edition_name ?? source.organization_name ?? '',
  sender: source.sender_name ?? source.organization_name ?? '',
})

const messageOf = (source: Pick<TemplateSource, 'subject' | 'blocks'>, filesUrl: string): Message => ({
  subject: JSON.parse(source.subject) as TranslatedDict,
  blocks: blocksShown(source.blocks, filesUrl),
  template: 'modern',
})

const hashOf = async (source: TemplateSource, language: Language, message: Message): Promise<string> => {
  const { subject } = source
  const blocks = JSON.stringify(message.blocks)
  const content = [compilerVersion, language, subject, blocks, framing(source)]
  return toHex(await sha256(JSON.stringify(content)))
}

/**
 * A message for readers of a language, Liquid still inside: as it was stored when nothing has changed since, else compiled and
 * stored in the place of the one before. `editionId` is the edition that sends it: its name, its sender and its default
 * language frame messages of the organisation and of the platform. Null when there is no such message.
 */
export async function templateOf(
  ctx: Pick<JobCtx, 'db' | 'now' | 'config'>,
  messageId: string,
  language: Language,
  editionId: string | null = null,
): Promise<Compiled | null> {
  const sending = editionId ?? ''
  const row = await ctx.db.first(sql<
    TemplateSource & Partial<Stored>
  >`select email_messages.subject, email_messages.blocks,
      editions.default_language, organizations.name as organization_name, editions.full_name as edition_name,
      editions.email_sender_name as sender_name, email_renditions.content_hash,
      email_renditions.subject as stored_subject, email_renditions.html, email_renditions.text
    from email_messages left join editions on editions.id = coalesce(email_messages.edition_id, ${editionId})
      left join organizations
        on organizations.id = coalesce(email_messages.organization_id, editions.organization_id)
      left join email_renditions on email_renditions.message_id = email_messages.id
        and email_renditions.edition_id = ${sending} and email_renditions.language = ${language}
    where email_messages.id = ${messageId}`)
  if (!row) return null
  const { content_hash, stored_subject, html, text, ...source } = row
  const message = messageOf(source, ctx.config.files.url)
  const hash = await hashOf(source, language, message)
  const options = framing(source)
  if (content_hash === hash) {
    const reader = readerFor(message, language, options.defaultLanguage)
    return { subject: stored_subject ?? '', html: html ?? '', text: text ?? '', links: [], language: reader.language }
  }
  const template = compile(message, language, options)
  await ctx.db.all(sql`insert into email_renditions
      (message_id, edition_id, language, content_hash, subject, html, text, created_at)
    select id, ${sending}, ${language}, ${hash}, ${template.subject}, ${template.html}, ${template.text}, ${ctx.now()}
    from email_messages where id = ${messageId}
    on conflict (message_id, edition_id, language) do update set content_hash = excluded.content_hash, subject = excluded.subject,
      html = excluded.html, text = excluded.text, created_at = excluded.created_at`)
  return template
}
