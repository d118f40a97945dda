import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError, type Client, createClient, type Page } from '../client.ts'
import type { Installation } from './configuration.ts'
import type { Questions } from './questions.ts'
import { getSecretsPath, readSecrets } from './secrets.ts'

interface Health {
  status: number
  text: string
}

async function readHealth(publicUrl: string): Promise<Health> {
  try {
    const response = await fetch(`${publicUrl}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(10_000) })
    return { status: response.status, text: (await response.text()).slice(0, 500) }
  } catch (error) {
    const { cause } = error as Error
    return { status: 0, text: cause instanceof Error ? cause.message : (error as Error).message }
  }
}

/** True if another version than the one that was uploaded answers. Versions before the first release name none. */
function isOtherVersion(text: string, version: string): boolean {
  try {
    const { version: served } = JSON.parse(text) as { version?: string }
    return served !== undefined && served !== version
  } catch {
    return true
  }
}

const pauseMs = 2000

/** Waits until the service answers as healthy, and throws when it does not in time. */
export async function waitForHealth(
  publicUrl: string,
  version: string,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<void> {
  console.log(`Waiting for ${publicUrl}/healthz …`)
  for (const deadline = Date.now() + patienceMs; ; await wait(Math.min(pauseMs, patienceMs / 5), null, { signal })) {
    const { status, text } = await readHealth(publicUrl)
    if (status === 200 && !isOtherVersion(text, version)) return
    if (Date.now() < deadline) continue
    const reason = status === 0 ? `got no answer: ${text}` : `answered ${status}: ${text}`
    throw new Error(
      `The Worker is deployed, but after ${Math.round(patienceMs / 1000)} s ${publicUrl}/healthz ${reason}\nA new domain can take a quarter of an hour. Run the command again then: it makes nothing twice. If it stays like this, npx wrangler tail shows what the Worker says.`,
    )
  }
}

export interface FirstAdmin {
  organization?: string | undefined
  adminName?: string | undefined
  adminEmail?: string | undefined
}

interface Organization {
  id: string
  name: string
}

interface Member {
  id: string
  email: string
}

const splitName = (name: string): { first_name?: string; last_name?: string } => {
  const [first, ...rest] = name.split(/\s+/).filter((part) => part !== '')
  return { ...(first ? { first_name: first } : {}), ...(rest.length > 0 ? { last_name: rest.join(' ') } : {}) }
}

const pageOfOne = 'page_size=1'

/** Makes the idempotency key of a request. A corrected answer to a question is another request. */
const makeKey = (...parts: readonly string[]): string =>
  `deploy-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`

/**
 * Makes the first organisation and its admin, where the service has none, and prints a link to sign in. An organisation
 * without members is one that an earlier run began.
 */
export async function addFirstOrganization(
  installation: Installation,
  publicUrl: string,
  firstAdmin: FirstAdmin,
  questions: Questions,
): Promise<void> {
  const { ROOT_TOKEN: token } = await readSecrets(installation)
  if (!token) {
    console.log(
      `The value of ROOT_TOKEN is not in ${getSecretsPath(installation)}, so organisations are left as they are.`,
    )
    return
  }
  const client = createClient(publicUrl, token)
  if (!(await isSuperuser(client))) {
    console.log(
      `The Worker has another ROOT_TOKEN than ${getSecretsPath(installation)}, so organisations are left as they are. Write the one that you set into the file.`,
    )
    return
  }
  const organization = await findFirstOrganization(client, firstAdmin, questions)
  if (!organization) return
  const email = firstAdmin.adminEmail ?? (questions.canAsk ? await questions.ask('E-mail address of its admin') : '')
  if (!email) {
    console.log('The organisation has no admin yet. Run the command again with --admin-email to add one.')
    return
  }
  const name = firstAdmin.adminName ?? (questions.canAsk ? await questions.ask('Name of the admin') : '')
  const member = await client.post<Member>(
    `/v1/organizations/${organization.id}/members`,
    { email, ...splitName(name), role: 'admin' },
    makeKey(organization.id, email, name),
  )
  await printSignInLink(client, member)
}

async function isSuperuser(client: Client): Promise<boolean> {
  try {
    await client.get(`/v1/organizations?${pageOfOne}`)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.problem.status === 401) return false
    throw error
  }
}

/** Returns the organisation that has no members yet. Null if all are complete, or if none is wanted. */
async function findFirstOrganization(
  client: Client,
  firstAdmin: FirstAdmin,
  questions: Questions,
): Promise<Organization | null> {
  const { count, results } = await client.get<Page<Organization>>(`/v1/organizations?${pageOfOne}`)
  const [existing] = results
  if (existing) {
    if (count > 1) return null
    const members = await client.get<Page<Member>>(`/v1/organizations/${existing.id}/members?${pageOfOne}`)
    return members.count === 0 ? existing : null
  }
  const name =
    firstAdmin.organization ?? (questions.canAsk ? await questions.ask('Name of the first organisation') : '')
  if (!name) {
    console.log(
      'There is no organisation yet. Run the command again with --organization, --admin-name and --admin-email to make the first.',
    )
    return null
  }
  const organization = await client.post<Organization>('/v1/organizations', { name }, makeKey(name))
  console.log(`The organisation ${organization.name} is made.`)
  return organization
}

async function printSignInLink(client: Client, member: Member): Promise<void> {
  const { sign_in_url } = await client.post<{ sign_in_url: string }>('/v1/auth/sign-in-links', { member_id: member.id })
  console.log(`\n${member.email} signs in with this link, once, within an hour:\n${sign_in_url}\n`)
}

/** Reads the address of the service from the configuration that the last deployment wrote. */
async function readPublicUrl({ configFile, environment }: Installation): Promise<string> {
  try {
    const { vars } = JSON.parse(await readFile(configFile, 'utf8')) as { vars: { PUBLIC_URL: string } }
    return vars.PUBLIC_URL
  } catch {
    throw new Error(
      `${environment} was not deployed from this folder. Run npm run deploy first, or set DEPLOY_FOLDER to the folder that has its files.`,
    )
  }
}

/** Prints a link for a member who gets no e-mails. */
export async function makeSignInLink(installation: Installation, email: string): Promise<void> {
  const publicUrl = await readPublicUrl(installation)
  const { ROOT_TOKEN: token } = await readSecrets(installation)
  if (!token) throw new Error(`${getSecretsPath(installation)} has no ROOT_TOKEN, which makes links to sign in.`)
  const client = createClient(publicUrl, token)
  if (!(await isSuperuser(client)))
    throw new Error(
      `${publicUrl} has another ROOT_TOKEN than ${getSecretsPath(installation)}. Write the one that you set into the file.`,
    )
  for await (const organization of listAll<Organization>(client, '/v1/organizations?page_size=500'))
    for await (const member of listAll<Member>(client, `/v1/organizations/${organization.id}/members?page_size=500`))
      if (member.email.toLowerCase() === email.toLowerCase()) return printSignInLink(client, member)
  throw new Error(`${publicUrl} has no member with the e-mail address ${email}.`)
}

async function* listAll<Item>(client: Client, path: string): AsyncGenerator<Item> {
  for (let next: string | null = path; next;) {
    const page: Page<Item> = await client.get<Page<Item>>(next)
    yield* page.results
    next = page.next
  }
}
