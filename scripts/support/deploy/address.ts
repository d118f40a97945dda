import { publicUrl as urlForm } from '../../../src/domain/settings/forms.ts'
import { readText } from '../../../src/domain/settings/settings.ts'
import type { Installation } from './configuration.ts'
import { type Platform, PlatformError } from './platform.ts'
import type { Questions } from './questions.ts'
import type { Survey } from './survey.ts'
import type { Variables } from './variables.ts'

const workersDev = '.workers.dev'

const isLocal = (host: string): boolean => host === 'localhost' || /^[\d.]+$/.test(host) || host.startsWith('[')

/** Writes an address as the service does. A text that is no address stays, for the check of the settings. */
const formatUrl = (text: string): string => urlForm.read(text) ?? text

/** Returns the host of an address. Null if it is no address, which the check of the settings reports. */
function readHost(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null
}

export const isAtWorkersDev = (url: string): boolean => readHost(url)?.endsWith(workersDev) ?? false

/** Finds the address of the service: that of its variables, or the answer of the caller, or that of workers.dev. */
export async function choosePublicUrl(
  { workerName }: Installation,
  variables: Variables,
  { subdomain }: Survey,
  questions: Questions,
): Promise<string> {
  const configured = readText(variables, 'PUBLIC_URL')
  if (configured) return formatUrl(configured)
  const standard = subdomain ? `https://${workerName}.${subdomain}${workersDev}` : ''
  const text = questions.canAsk
    ? await questions.ask('The address of the service, such as https://events.example.com', standard)
    : standard
  if (text) return formatUrl(text.includes('://') ? text : `https://${text}`)
  throw new Error(
    `The service needs an address. Nothing was changed. Name a domain of this account, or one of workers.dev, whose second part is the name that you choose for the account: npm run deploy -- --set PUBLIC_URL=https://${workerName}.example${workersDev}`,
  )
}

export interface AddressPlan {
  /** The subdomain of workers.dev that is registered for the account. */
  newSubdomain: string | null
  /** The hosts that are attached to the Worker. */
  newHosts: string[]
}

/** Finds out what the addresses of the service need. It throws when they cannot lead to the Worker. */
export async function planAddress(
  platform: Platform,
  accountId: string,
  installation: Installation,
  { variables, survey }: { variables: Variables; survey: Survey },
): Promise<AddressPlan> {
  const urls = [readText(variables, 'PUBLIC_URL'), readText(variables, 'FILES_URL')]
  // Routes of wrangler.toml are the operator's own way to the Worker.
  const isRouted = installation.file.routes !== undefined || installation.file.route !== undefined
  for (const url of urls) refuseUnusableUrl(url, isRouted)
  const hosts = [...new Set(urls.map(readHost).filter((host) => host !== null))]
  const platformHosts = hosts.filter((host) => host.endsWith(workersDev))
  const newSubdomain = planSubdomain(platformHosts, installation, survey)
  const newHosts = hosts.filter((host) => !isRouted && !platformHosts.includes(host) && !survey.hosts.includes(host))
  for (const host of newHosts) await refuseUnusableHost(platform, accountId, host)
  return { newSubdomain, newHosts }
}

/** The platform gives a Worker whole hosts, with HTTPS at its usual port. */
function refuseUnusableUrl(text: string, isRouted: boolean): void {
  if (!URL.canParse(text)) return
  const { protocol, hostname } = new URL(text)
  if (protocol === 'https:' && !isLocal(hostname) && (isRouted || formatUrl(text) === `https://${hostname}`)) return
  const standard = isLocal(hostname) ? 'https://events.example.com' : `https://${hostname}`
  const fault = describeUrlFault(new URL(text))
  throw new Error(
    `The address ${text} ${fault}, and the Worker cannot have it. Nothing was changed. Choose one such as ${standard}.`,
  )
}

function describeUrlFault({ protocol, host, hostname }: URL): string {
  if (isLocal(hostname)) return 'is the address of a single machine'
  if (protocol !== 'https:') return 'does not begin with https://'
  return host === hostname ? 'has more than a host' : 'has a port'
}

function planSubdomain(hosts: readonly string[], { workerName }: Installation, { subdomain }: Survey): string | null {
  // All hosts of workers.dev have to be the one of the Worker.
  const host = hosts.find((name) => !name.startsWith(`${workerName}.`)) ?? hosts[0]
  if (host === undefined) return null
  const [worker, account, ...rest] = host.slice(0, -workersDev.length).split('.')
  const isComplete = worker === workerName && account !== undefined && rest.length === 0
  if (isComplete && (subdomain === null || subdomain === account)) return subdomain === null ? account : null
  throw new Error(
    `The Worker cannot have the address ${host}. Nothing was changed. Its address at workers.dev is ${workerName}.${subdomain ?? '<name of the account>'}${workersDev}.`,
  )
}

async function refuseUnusableHost(platform: Platform, accountId: string, host: string): Promise<void> {
  const domains = await platform.call<{ hostname: string; service: string }[]>(
    'GET',
    `/accounts/${accountId}/workers/domains?hostname=${encodeURIComponent(host)}`,
  )
  const owner = domains.find(({ hostname }) => hostname === host)?.service
  if (owner)
    throw new Error(
      `${host} leads to the Worker ${owner}. Nothing was changed. Choose another address, or remove the domain from that Worker first.`,
    )
  if (!(await hasZone(platform, accountId, host)))
    throw new Error(
      `No domain of this account contains ${host}. Nothing was changed. Add the domain to the account in the dashboard, or choose another address. If ${host} reaches the Worker another way, write its routes into wrangler.toml.`,
    )
}

/** True if a zone of the account contains the host, or if the credentials may not read zones. */
async function hasZone(platform: Platform, accountId: string, host: string): Promise<boolean> {
  const labels = host.split('.')
  for (let start = 0; start < labels.length - 1; start++) {
    const name = labels.slice(start).join('.')
    try {
      const zones = await platform.call<{ name: string }[]>('GET', `/zones?name=${name}&account.id=${accountId}`)
      if (zones.some((zone) => zone.name === name)) return true
    } catch (error) {
      if (error instanceof PlatformError && [400, 401, 403].includes(error.status)) return true
      throw error
    }
  }
  return false
}

export async function attachHost(
  platform: Platform,
  accountId: string,
  { workerName }: Installation,
  host: string,
): Promise<void> {
  try {
    await platform.call('PUT', `/accounts/${accountId}/workers/domains`, {
      hostname: host,
      service: workerName,
    })
  } catch (error) {
    throw new Error(
      `${host} was not attached to the Worker, which is deployed. ${(error as Error).message}\nIf the domain has a DNS record for ${host}, remove it in the dashboard. Then run the command again.`,
      { cause: error },
    )
  }
}
