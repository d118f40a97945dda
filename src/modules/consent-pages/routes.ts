import { Hono } from 'hono'
import { readBody } from '../../http/requests/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { formPage, formPolicy, linkHeaders } from '../../http/pages/html-page.ts'
import { readNetworkPrefix, limitConfirmations, limitLinks } from '../../http/middleware/rate-limit.ts'
import { languageIn } from './language.ts'
import { confirm, confirmationOf } from './confirmation.ts'
import { confirmationPage, type LinkPage, preferencesPage, unknownPage } from './page.ts'
import { personOfLink, preferencesOf, savePreferences, type SentForm } from './preferences.ts'
import type { Visit } from './record.ts'

type PageJob = Parameters<typeof personOfLink>[0]
type Status = 200 | 404 | 409

/** Room for the boxes of all consents that a page shows. */
const maxFormBytes = 65_536
const maxAgentLength = 200

async function answer(c: AppContext, page: LinkPage, status: Status = 200): Promise<Response> {
  return c.html(formPage(page), status, { 'content-security-policy': await formPolicy() })
}

const visitOf = (c: AppContext): Visit => {
  const ip_prefix = readNetworkPrefix(c)
  const agent = c.req.header('user-agent')
  return {
    request_id: c.var.requestId,
    evidence: { ...(ip_prefix && { ip_prefix }), ...(agent && { user_agent: agent.slice(0, maxAgentLength) }) },
  }
}

async function formOf(c: AppContext): Promise<SentForm> {
  const body = new URLSearchParams(new TextDecoder().decode(await readBody(c, maxFormBytes)))
  return { shown: body.getAll('shown'), given: body.getAll('given') }
}

/** Pages on which people see and answer consents, by links that only they were sent. */
export function consentPages(open: (c: AppContext) => PageJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/consents/*', linkHeaders(), limitLinks())

  // Programs look at every link, so looking changes nothing.
  routes.get('/consents/confirm/:token', async (c) => {
    const found = await confirmationOf(open(c), c.req.param('token'), languageIn(c.req.query('language')))
    return found ? answer(c, confirmationPage(found)) : answer(c, unknownPage(), 404)
  })

  routes.post('/consents/confirm/:token', async (c) => {
    const token = c.req.param('token')
    await limitConfirmations(c, token)
    const asked = languageIn(c.req.query('language'))
    const found = await confirm(open(c), token, { asked, visit: visitOf(c) })
    return found ? answer(c, confirmationPage(found)) : answer(c, unknownPage(), 404)
  })

  routes.get('/consents/:token', async (c) => {
    const job = open(c)
    const person = await personOfLink(job, c.req.param('token'))
    if (!person) return answer(c, unknownPage(), 404)
    const language = languageIn(c.req.query('language'), person.locale)
    return answer(c, preferencesPage(await preferencesOf(job, person, language)))
  })

  routes.post('/consents/:token', async (c) => {
    const token = c.req.param('token')
    await limitConfirmations(c, token)
    const job = open(c)
    const person = await personOfLink(job, token)
    if (!person) return answer(c, unknownPage(), 404)
    const language = languageIn(c.req.query('language'), person.locale)
    const outcome = await savePreferences(job, { person, language, form: await formOf(c), visit: visitOf(c) })
    const page = preferencesPage(await preferencesOf(job, person, language), outcome)
    return answer(c, page, outcome === 'stale' ? 409 : 200)
  })

  return routes
}
