import { type FileHandle, mount, mountFile, createRouter } from '../../http/operations/mount.ts'
import { framePage, pagePolicy } from '../../http/pages/html-page.ts'
import * as contract from './contract.ts'
import { eraseUser } from './erase.ts'
import { chooseExportPage } from './export-page.ts'
import { exportUser, exportUserAsPage } from './export.ts'
import { mergeUsers } from './merge/merge.ts'
import { presentErasure, presentUser, presentUserMerge } from './present.ts'
import { findUser } from './queries.ts'

export const personalDataRoutes = createRouter()

mount(personalDataRoutes, contract.eraseUser, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: (ctx, { resource, body }) => eraseUser(ctx, resource, body),
  present: presentErasure,
  represent: (resource) => presentUser(resource),
})

mount(personalDataRoutes, contract.mergeUsers, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: (ctx, { resource, body }) => mergeUsers(ctx, resource, body),
  present: presentUserMerge,
  represent: (resource) => presentUser(resource),
  audit: ({ storedValues }) => storedValues,
})

mountFile(personalDataRoutes, contract.exportUser, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: async (ctx, { resource, query, acceptsPage }): Promise<FileHandle> => {
    const isPage = query.format ? query.format === 'html' : acceptsPage
    if (!isPage) return { ...exportUser(ctx, resource), headers: { vary: 'accept' } }
    const page = chooseExportPage(resource, query.language)
    const frame = await framePage({ language: page.tag, title: page.title })
    return {
      ...exportUserAsPage(ctx, resource, { ...frame, language: page.language }),
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': await pagePolicy(),
        'referrer-policy': 'no-referrer',
        vary: 'accept',
      },
    }
  },
})
