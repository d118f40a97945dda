import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import {
  createRateLimitError,
  limitConfirmations,
  limitLinks,
  limitSignups,
  readNetwork,
} from '../../http/middleware/rate-limit.ts'
import { createRouter, mount, mountList } from '../../http/operations/mount.ts'
import { embeddedFormPolicy, formPage, formPolicy, linkHeaders } from '../../http/pages/html-page.ts'
import { readBody } from '../../http/requests/body.ts'
import { readVisit } from '../../http/requests/visit.ts'
import * as contract from './contract.ts'
import { createSignupForm } from './create.ts'
import { deleteSignupForm } from './delete.ts'
import { listSignupForms } from './list.ts'
import { presentSignupForm } from './present.ts'
import { confirmSignup, loadSignupConfirmation } from './public/confirm.ts'
import { chooseFormLanguage, loadPublicForm, type PublicForm } from './public/form.ts'
import {
  type LinkPage,
  parsePageLanguage,
  renderClosedPage,
  renderConfirmationPage,
  renderInvalidLinkPage,
  renderSentPage,
  renderSignupPage,
} from './public/page.ts'
import {
  checkSite,
  createFormError,
  createFormTypeError,
  createOutcomeError,
  createUnknownFormError,
  describeOutcome,
  readSentForm,
  type SentForm,
  type SignupOutcome,
  submitSignup,
} from './public/submit.ts'
import { findSignupForm } from './queries.ts'
import { updateSignupForm } from './update.ts'

export const signupFormRoutes = createRouter()

mountList(signupFormRoutes, contract.listSignupForms, {
  list: listSignupForms,
  present: presentSignupForm,
})

mount(signupFormRoutes, contract.createSignupForm, {
  target: (body) => body,
  handle: (ctx, { body }) => createSignupForm(ctx, body),
  present: presentSignupForm,
  location: ({ id }) => `/v1/signup-forms/${id}`,
})

mount(signupFormRoutes, contract.getSignupForm, {
  load: (ctx, { id }) => findSignupForm(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentSignupForm,
})

mount(signupFormRoutes, contract.updateSignupForm, {
  load: (ctx, { id }) => findSignupForm(ctx, id),
  handle: (ctx, { resource, body }) => updateSignupForm(ctx, resource, body),
  present: presentSignupForm,
})

mount(signupFormRoutes, contract.deleteSignupForm, {
  load: (ctx, { id }) => findSignupForm(ctx, id),
  handle: (ctx, { resource }) => deleteSignupForm(ctx, resource),
  represent: (resource, ctx) => presentSignupForm(resource, ctx),
})

type PageJob = Parameters<typeof loadPublicForm>[0] & Parameters<typeof submitSignup>[0]
type Status = 200 | 400 | 404 | 409 | 429

/** An address, a few ids and the boundaries between them. */
const maxFormBytes = 16_384
const hourSeconds = 3600

async function respond(c: AppContext, page: LinkPage, status: Status = 200): Promise<Response> {
  return c.html(formPage(page), status, { 'content-security-policy': await formPolicy() })
}

/** Pages of the form itself, which allowed sites may embed. */
async function respondEmbedded(
  c: AppContext,
  { allowed_sites, redirect_url }: PublicForm,
  page: LinkPage,
  status: Status = 200,
): Promise<Response> {
  const redirectSite = redirect_url === null ? null : new URL(redirect_url).origin
  const policy = await embeddedFormPolicy({ redirectSite, frameAncestors: allowed_sites })
  return c.html(formPage({ ...page, sendsOrigin: true }), status, { 'content-security-policy': policy })
}

const wantsJson = (c: AppContext): boolean => /\bapplication\/json\b/i.test(c.req.header('accept') ?? '')

const formTypes = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

async function readFields(c: AppContext): Promise<FormData> {
  const type = c.req.header('content-type') ?? ''
  if (!formTypes.test(type)) throw createFormTypeError()
  const bytes = await readBody(c, maxFormBytes)
  return new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
    throw createFormError()
  })
}

/** Answers every accepted request alike. */
function respondAccepted(c: AppContext, form: PublicForm, { language }: SentForm): Response | Promise<Response> {
  const { redirect_url } = form
  if (wantsJson(c)) return c.json({ status: 'confirmation_required', redirect_url })
  // Headers are ASCII, and browsers guess the encoding of anything else.
  return redirect_url === null
    ? respondEmbedded(c, form, renderSentPage(language))
    : c.redirect(new URL(redirect_url).href, 303)
}

const refusalStatus = (outcome: Exclude<SignupOutcome, 'accepted'>): Status => {
  if (outcome === 'too_many') return 429
  return outcome === 'closed' ? 409 : 400
}

function respondRefused(
  c: AppContext,
  form: PublicForm,
  { entries, language }: SentForm,
  outcome: Exclude<SignupOutcome, 'accepted'>,
): Promise<Response> {
  const error =
    outcome === 'too_many'
      ? createRateLimitError(
          'Too many sign-ups in the last hour.',
          `"signup";q=${form.mails_per_hour};w=${hourSeconds}`,
          hourSeconds,
        )
      : createOutcomeError(outcome)
  if (wantsJson(c)) throw error
  const page =
    outcome === 'closed'
      ? renderClosedPage(form, language)
      : renderSignupPage(form, language, { entries, notice: describeOutcome(outcome, language) })
  return respondEmbedded(c, form, page, refusalStatus(outcome))
}

/** The pages on which people sign up and confirm it, without a token of the API. */
export function buildSignupPageRoutes(open: (c: AppContext) => PageJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/signup/*', linkHeaders(), limitLinks())

  // Virus scanners open every link of a message, so GET changes nothing.
  routes.get('/signup/confirm/:token', async (c) => {
    const language = parsePageLanguage(c.req.query('language'))
    const confirmation = await loadSignupConfirmation(open(c), c.req.param('token'), language)
    return confirmation ? respond(c, renderConfirmationPage(confirmation)) : respond(c, renderInvalidLinkPage(), 404)
  })

  routes.post('/signup/confirm/:token', async (c) => {
    const token = c.req.param('token')
    await limitConfirmations(c, token)
    const language = parsePageLanguage(c.req.query('language'))
    const confirmation = await confirmSignup(open(c), token, { language, visit: readVisit(c) })
    return confirmation ? respond(c, renderConfirmationPage(confirmation)) : respond(c, renderInvalidLinkPage(), 404)
  })

  routes.get('/signup/:id', async (c) => {
    const form = await loadPublicForm(open(c), c.req.param('id'))
    if (!form) return respond(c, renderInvalidLinkPage(), 404)
    const language = chooseFormLanguage(form, c.req.query('language'), c.req.header('accept-language'))
    return form.is_open
      ? respondEmbedded(c, form, renderSignupPage(form, language))
      : respondEmbedded(c, form, renderClosedPage(form, language), 404)
  })

  routes.post('/signup/:id', async (c) => {
    await limitSignups(c)
    const job = open(c)
    const form = await loadPublicForm(job, c.req.param('id'))
    if (!form) throw createUnknownFormError()
    const headers = { origin: c.req.header('origin'), referer: c.req.header('referer') }
    const { site, isOwn } = checkSite(job, form, c.req.url, headers)
    if (!isOwn) c.res.headers.set('access-control-allow-origin', site)
    const { requestedLanguage, ...fields } = readSentForm(await readFields(c))
    const acceptedLanguages = c.req.header('accept-language')
    const language = chooseFormLanguage(form, requestedLanguage ?? c.req.query('language'), acceptedLanguages)
    const sentForm = { ...fields, language }
    const visitor = { network: readNetwork(c), evidence: { ...readVisit(c).evidence, site } }
    const outcome = await submitSignup(job, form, sentForm, visitor)
    return outcome === 'accepted' ? respondAccepted(c, form, sentForm) : respondRefused(c, form, sentForm, outcome)
  })

  return routes
}
