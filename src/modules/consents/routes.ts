import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as answers from './answer-contract.ts'
import { findAnswerSubject, findUser } from './answers/answer-queries.ts'
import { giveConsent, skipConsent, withdrawConsent } from './answers/answer.ts'
import { listConsentRecords, listUserConsents } from './answers/list.ts'
import { presentAnswer, presentProof, presentRecord } from './answers/present-answer.ts'
import { findProof } from './answers/proof.ts'
import * as contract from './contract.ts'
import { createConsent } from './create.ts'
import { deleteConsent } from './delete.ts'
import { listConsents } from './list.ts'
import { presentConsent } from './present.ts'
import { findConsent, findReadableConsent } from './queries.ts'
import { updateConsent } from './update.ts'

export const consentRoutes = createRouter()

mountList(consentRoutes, contract.listConsents, {
  list: listConsents,
  present: presentConsent,
})

mount(consentRoutes, contract.createConsent, {
  target: (body) => body,
  handle: (ctx, { body }) => createConsent(ctx, body),
  present: presentConsent,
  location: ({ id }) => `/v1/consents/${id}`,
})

mount(consentRoutes, contract.getConsent, {
  load: (ctx, { id }) => findReadableConsent(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentConsent,
})

mount(consentRoutes, contract.updateConsent, {
  load: (ctx, { id }) => findConsent(ctx, id),
  handle: (ctx, { loaded, body }) => updateConsent(ctx, loaded, body),
  present: presentConsent,
})

mount(consentRoutes, contract.deleteConsent, {
  load: (ctx, { id }) => findConsent(ctx, id),
  handle: (ctx, { loaded }) => deleteConsent(ctx, loaded),
  represent: (loaded, ctx) => presentConsent(loaded, ctx),
})

mountList(consentRoutes, answers.listUserConsents, {
  load: (ctx, { id }) => findUser(ctx, id),
  list: listUserConsents,
  present: presentAnswer,
})

mountList(consentRoutes, answers.listConsentRecords, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  list: listConsentRecords,
  present: presentRecord,
})

mount(consentRoutes, answers.getConsentProof, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { loaded }) => findProof(ctx, loaded),
  present: presentProof,
})

mount(consentRoutes, answers.giveConsent, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { loaded, body }) => giveConsent(ctx, loaded, body),
  present: ({ answer }, ctx) => presentAnswer(answer, ctx),
})

mount(consentRoutes, answers.skipConsent, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { loaded, body }) => skipConsent(ctx, loaded, body),
  present: ({ answer }, ctx) => presentAnswer(answer, ctx),
})

mount(consentRoutes, answers.withdrawConsent, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { loaded, body }) => withdrawConsent(ctx, loaded, body),
  present: ({ answer }, ctx) => presentAnswer(answer, ctx),
})
