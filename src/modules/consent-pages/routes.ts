import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { limitConfirmations, limitLinks } from '../../http/middleware/rate-limit.ts'
import { formPage, formPolicy, linkHeaders } from '../../http/pages/html-page.ts'
import { readBody } from '../../http/requests/body.ts'
import { readVisit } from '../../http/requests/visit.ts'
import { confirmAnswer, loadConfirmation } from './confirmation.ts'
import { renderConfirmationPage, type LinkPage, renderPreferencesPage, renderInvalidLinkPage } from './page.ts'
import { findLinkedPerson, loadPreferences, savePreferences, type SentForm } from './preferences.ts'
import { choosePageLanguage, parsePageLanguage } from './words.ts'

type PageJob = Parameters<typeof findLinkedPerson>[0]
type Status = 200 | 404 | 409

/** A page has many consents, and its form has a checkbox for each. */
const maxFormBytes = 65_536

async function respond(c: AppContext, page: LinkPage, status: Status = 200): Promise<Response> {
  return c.html(formPage(page), status, { 'content-security-policy': await formPolicy() })
}

async function readForm(c: AppContext): Promise<SentForm> {
  const form = new URLSearchParams(new TextDecoder().decode(await readBody(c, maxFormBytes)))
  return { shownValues: form.getAll('shown'), givenIds: form.getAll('given') }
}

/** The pages on which people read and answer their consents. Their links are sent to the person alone. */
export function buildConsentPageRoutes(open: (c: AppContext) => PageJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/consents/*', linkHeaders(), limitLinks())

  // Virus scanners open every link of a message, so GET changes nothing.
  routes.get('/consents/confirm/:token', async (c) => {
    const confirmation = await loadConfirmation(
      open(c),
      c.req.param('token'),
      parsePageLanguage(c.req.query('language')),
    )
    return confirmation ? respond(c, renderConfirmationPage(confirmation)) : respond(c, renderInvalidLinkPage(), 404)
  })

  routes.post('/consents/confirm/:token', async (c) => {
    const token = c.req.param('token')
    await limitConfirmations(c, token)
    const confirmation = await confirmAnswer(open(c), token, {
      language: parsePageLanguage(c.req.query('language')),
      visit: readVisit(c),
    })
    return confirmation ? respond(c, renderConfirmationPage(confirmation)) : respond(c, renderInvalidLinkPage(), 404)
  })

  routes.get('/consents/:token', async (c) => {
    const job = open(c)
    const person = await findLinkedPerson(job, c.req.param('token'))
    if (!person) return respond(c, renderInvalidLinkPage(), 404)
    const language = choosePageLanguage(c.req.query('language'), person.locale)
    return respond(c, renderPreferencesPage(await loadPreferences(job, person, language)))
  })

  routes.post('/consents/:token', async (c) => {
    const token = c.req.param('token')
    await limitConfirmations(c, token)
    const job = open(c)
    const person = await findLinkedPerson(job, token)
    if (!person) return respond(c, renderInvalidLinkPage(), 404)
    const language = choosePageLanguage(c.req.query('language'), person.locale)
    const outcome = await savePreferences(job, { person, language, form: await readForm(c), visit: readVisit(c) })
    const page = renderPreferencesPage(await loadPreferences(job, person, language), outcome)
    return respond(c, page, outcome === 'stale' ? 409 : 200)
  })

  return routes
}
