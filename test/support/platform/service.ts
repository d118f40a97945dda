import { createHash } from 'node:crypto'
import packageFile from '../../../package.json' with { type: 'json' }
import { type Call, RawAnswer, readJson } from './answers.ts'
import { makeId, type Organization, type PlatformState, type PlatformWorker } from './state.ts'

const readText = (worker: PlatformWorker, name: string): string =>
  worker.bindings.find((binding) => binding.name === name)?.text ?? ''

function findWorker(state: PlatformState, host: string): [string, PlatformWorker] | null {
  const name = state.domains.get(host)
  const worker = name === undefined ? undefined : state.workers.get(name)
  if (name !== undefined && worker) return [name, worker]
  const atWorkersDev = [...state.workers].find(
    ([workerName, { isOnWorkersDev }]) => isOnWorkersDev && host === `${workerName}.${state.subdomain}.workers.dev`,
  )
  return atWorkersDev ?? null
}

const countTables = (state: PlatformState, worker: PlatformWorker): number => {
  const id = worker.bindings.find(({ type }) => type === 'd1')?.['id']
  const row = [...state.databases.values()].find(({ uuid }) => uuid === id)
  return row?.database.prepare("select name from sqlite_master where name = 'organizations'").all().length ?? 0
}

const listPage = (rows: readonly unknown[]) =>
  new RawAnswer(200, { count: rows.length, next: null, previous: null, results: rows })

/** Answers as a service does that was deployed at the platform. */
export function answerAsService(state: PlatformState, host: string, path: string, call: Call): RawAnswer {
  const [name, worker] = findWorker(state, host) ?? []
  if (!worker) return new RawAnswer(404, { error: 'no Worker' })
  if (readText(worker, 'ROOT_TOKEN') === '')
    return new RawAnswer(500, { error: 'The Worker serves without its secrets.' })
  if (countTables(state, worker) === 0) return new RawAnswer(503, { status: 'unavailable' })
  if (path === '/healthz')
    return new RawAnswer(200, { status: 'ok', database: 'reached', version: packageFile.version })
  if (call.headers.get('authorization') !== `Bearer ${readText(worker, 'ROOT_TOKEN')}`)
    return new RawAnswer(401, { error: 'wrong token' })
  const organizations = state.organizations.get(name ?? '') ?? []
  state.organizations.set(name ?? '', organizations)
  return answerAsSuperuser(state, organizations, { worker, path, call })
}

function answerAsSuperuser(
  state: PlatformState,
  organizations: Organization[],
  { worker, path, call }: { worker: PlatformWorker; path: string; call: Call },
): RawAnswer {
  const [, organizationId] = /^\/v1\/organizations\/([^/]+)\/members$/.exec(path) ?? []
  const organization = organizations.find(({ id }) => id === organizationId)
  if (call.method === 'GET') return listPage(organizationId ? (organization?.members ?? []) : organizations)
  if (path === '/v1/organizations') {
    const { name } = readJson(call) as { name: string }
    organizations.push({ id: `org_${makeId(state)}`, name, members: [] })
    return new RawAnswer(201, organizations.at(-1))
  }
  if (organization) {
    const { email, role } = readJson(call) as { email: string; role: string }
    organization.members.push({ id: `mem_${makeId(state)}`, email, role })
    return new RawAnswer(201, organization.members.at(-1))
  }
  if (path !== '/v1/auth/sign-in-links') return new RawAnswer(404, { error: path })
  const link = createHash('sha256').update(makeId(state)).digest('hex')
  const url = `${readText(worker, 'PUBLIC_URL')}/console#link=${link}`
  state.links.push(url)
  return new RawAnswer(201, { sign_in_url: url })
}
