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
  handle: async (_, { resource }) => resource,
  present: presentConsent,
})

mount(consentRoutes, contract.updateConsent, {
  load: (ctx, { id }) => findConsent(ctx, id),
  handle: (ctx, { resource, body }) => updateConsent(ctx, resource, body),
  present: presentConsent,
})

mount(consentRoutes, contract.deleteConsent, {
  load: (ctx, { id }) => findConsent(ctx, id),
  handle: (ctx, { resource }) => deleteConsent(ctx, resource),
  represent: (resource, ctx) => presentConsent(resource, ctx),
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
  handle: (ctx, { resource }) => findProof(ctx, resource),
  present: presentProof,
})

mount(consentRoutes, answers.giveConsent, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { resource, body }) => giveConsent(ctx, resource, body),
  present: ({ answer }, ctx) => presentAnswer(answer, ctx),
})

mount(consentRoutes, answers.skipConsent, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { resource, body }) => skipConsent(ctx, resource, body),
  present: ({ answer }, ctx) => presentAnswer(answer, ctx),
})

mount(consentRoutes, answers.withdrawConsent, {
  load: (ctx, { id, consent_id }) => findAnswerSubject(ctx, id, consent_id),
  handle: (ctx, { resource, body }) => withdrawConsent(ctx, resource, body),
  present: ({ answer }, ctx) => presentAnswer(answer, ctx),
})
