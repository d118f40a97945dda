import { ApiError, type Client, type components, paginate } from '../../src/index.ts'
import type { Connection } from '../credentials.ts'
import { type Check, fault, type Finding, ok, runCheck, unknown, warning } from './check.ts'

type UserInfo = components['schemas']['UserInfo']
type Endpoint = components['schemas']['WebhookEndpoint']

interface Organization {
  id: string
  name: string
}

const dayMs = 86_400_000
const expiresSoonMs = 7 * dayMs
const maxOrganizations = 20

const signInAgain = ({ url, isDevelopment }: Connection): string =>
  isDevelopment ? 'End `npm start` and run it again.' : `Run \`ecm login --url ${url}\`.`

function describeToken({ token }: UserInfo, connection: Connection): Finding {
  const { kind, scopes, expires_at: expiresAt } = token
  const begin = `A ${kind} token with ${scopes.join(' and ')}, from ${connection.source}`
  if (expiresAt === null) return ok(`${begin}. It does not expire.`)
  const text = `${begin}. It expires at ${expiresAt}.`
  const isSoon = Date.parse(expiresAt) - Date.now() < expiresSoonMs
  // A session lasts hours by design.
  return isSoon && kind !== 'session' ? warning(text, 'Create another one: `ecm api createAccessToken`.') : ok(text)
}

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

function describeRoles({ is_superuser, organizations, editions, editions_count }: UserInfo): Finding {
  if (is_superuser) return ok('You are the superuser, who can do everything.')
  if (organizations.length === 0 && editions.length === 0)
    return fault('You have no role in any organisation.', 'Ask an admin of your organisation to add you as a member.')
  const roles = organizations.map(({ name, role }) => `${role ?? 'roles in editions'} in ${name}`)
  return ok(`${roles.join(', ')}. You can reach ${count(editions_count, 'edition', 'editions')}.`)
}

async function checkDomains(client: Client, { id, name }: Organization): Promise<Finding[]> {
  const params = { path: { id }, query: {} }
  const findings: Finding[] = []
  for await (const domain of paginate(client, '/v1/organizations/{id}/sender-domains', { params })) {
    if (domain.status === 'verified') findings.push(ok(`${domain.domain} of ${name} is verified.`))
    else {
      const reason = domain.last_check === null ? '' : ` ${domain.last_check.detail}`
      const look = `ecm api getSenderDomain id=${id} domain_id=${domain.id}`
      const verify = `ecm api verifySenderDomain id=${id} domain_id=${domain.id}`
      findings.push(
        fault(
          `${domain.domain} of ${name} is not verified, so nothing is sent from it.${reason}`,
          `Set the DNS records that \`${look}\` shows, and run \`${verify}\`.`,
        ),
      )
    }
  }
  return findings.length > 0 ? findings : [ok(`${name} has no domain of its own.`)]
}

async function describeEndpoint(client: Client, endpoint: Endpoint): Promise<Finding[]> {
  const { id, url, is_active, failing_since: failingSince } = endpoint
  if (is_active && failingSince === null) return []
  if (is_active)
    return [
      fault(
        `${endpoint.name} (${url}) has failed since ${failingSince}.`,
        `Mend the receiver. \`ecm api listWebhookDeliveries id=${id} ordering=-created\` shows what it answers.`,
      ),
    ]
  const { data } = await client.GET('/v1/webhooks/{id}', { params: { path: { id } } })
  if (data.disabled_reason === 'manual' || data.disabled_reason === null) return []
  const reason = data.disabled_reason === 'gone' ? 'it answered 410' : 'it failed for five days'
  return [
    fault(
      `${endpoint.name} (${url}) was switched off at ${endpoint.disabled_at}, because ${reason}.`,
      `Mend the receiver, and run \`ecm api updateWebhook id=${id} is_active:=true\`.`,
    ),
  ]
}

async function checkEndpoints(client: Client, { id, name }: Organization): Promise<Finding[]> {
  const findings: Finding[] = []
  let total = 0
  for await (const endpoint of paginate(client, '/v1/webhooks', { params: { query: { organization_id: id } } })) {
    total++
    findings.push(...(await describeEndpoint(client, endpoint)))
  }
  return findings.length > 0 ? findings : [ok(`${name} has ${count(total, 'endpoint', 'endpoints')}, and none fails.`)]
}

async function checkServices(client: Client): Promise<Finding[]> {
  const { data } = await client.GET('/v1/system/status')
  const failing = data.failing_services.map(({ service, reason, waiting_since: since }) =>
    fault(`${service} has failed since ${since}. ${reason}`, '`ecm api getSystemStatus` shows what waits for it.'),
  )
  return failing.length > 0 ? failing : [ok('No service that the API needs fails.')]
}

async function listOrganizations(client: Client, user: UserInfo): Promise<readonly Organization[]> {
  if (!user.is_superuser) return user.organizations
  const query = { page_size: maxOrganizations + 1 }
  return (await client.GET('/v1/organizations', { params: { query } })).data.results
}

async function checkOrganizations(client: Client, user: UserInfo): Promise<Check[]> {
  const organizations = await listOrganizations(client, user)
  const checks: Check[] = []
  // One after the other, because the service limits how fast it can be called.
  for (const organization of organizations.slice(0, maxOrganizations)) {
    checks.push(...(await runCheck('sender domains', () => checkDomains(client, organization))))
    checks.push(...(await runCheck('webhooks', () => checkEndpoints(client, organization))))
  }
  if (organizations.length > maxOrganizations)
    checks.push({ check: 'organisations', ...unknown(`Only the first ${maxOrganizations} of them are checked.`) })
  return checks
}

/** Checks what the token can see: itself, its roles, and the organisations of its owner. */
export async function checkAccount(client: Client, connection: Connection): Promise<Check[]> {
  if (connection.token === null)
    return [{ check: 'token', ...fault('You are not signed in.', signInAgain(connection)) }]
  let user: UserInfo
  try {
    user = (await client.GET('/v1/auth/user-info')).data
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401
    const refuse = () =>
      isRefused
        ? Promise.resolve(fault(`${error.message} It is from ${connection.source}.`, signInAgain(connection)))
        : Promise.reject(error)
    return runCheck('token', refuse)
  }
  return [
    ...(await runCheck('token', () => Promise.resolve(describeToken(user, connection)))),
    ...(await runCheck('roles', () => Promise.resolve(describeRoles(user)))),
    ...(user.is_superuser ? await runCheck('services', () => checkServices(client)) : []),
    ...(await checkOrganizations(client, user)),
  ]
}
