import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { deleteFile } from './delete.ts'
import { listFiles } from './list.ts'
import { presentFile, signFile } from './present.ts'
import { findFile } from './queries.ts'
import { discardFile, receiveFile } from './storage.ts'
import { updateFile } from './update.ts'
import { uploadFile } from './upload.ts'
import { completeFileUpload } from './uploads/complete-upload.ts'
import { presentUpload } from './uploads/present-upload.ts'
import * as uploads from './uploads/upload-contract.ts'
import { findUpload } from './uploads/upload-queries.ts'
import { abortFileUpload, putFileUploadPart, receivePart, startFileUpload } from './uploads/uploads.ts'

export { buildServedFileRoutes } from './public-routes.ts'

export const fileRoutes = createRouter()

mountList(fileRoutes, contract.listFiles, {
  list: listFiles,
  present: (row, ctx) => signFile(presentFile(row, ctx), row, ctx),
})

mount(fileRoutes, contract.uploadFile, {
  target: (body) => body,
  file: { receive: (ctx, file) => receiveFile(ctx, file), discard: discardFile },
  handle: (ctx, { body, file }) => uploadFile(ctx, body, file),
  present: presentFile,
  sign: signFile,
  location: ({ id }) => `/v1/files/${id}`,
})

mount(fileRoutes, uploads.startFileUpload, {
  target: (body) => body,
  handle: (ctx, { body }) => startFileUpload(ctx, body),
  present: presentUpload,
  location: ({ id }) => `/v1/files/uploads/${id}`,
})

mount(fileRoutes, uploads.getFileUpload, {
  load: (ctx, { id }) => findUpload(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentUpload,
})

mount(fileRoutes, uploads.putFileUploadPart, {
  load: (ctx, { id }) => findUpload(ctx, id),
  // A refused part is not deleted, because sending it again replaces it.
  file: { receive: (ctx, file, at) => receivePart(ctx, file, at), discard: async () => undefined },
  handle: (ctx, { params, resource, file }) => putFileUploadPart(ctx, resource, { number: params.number, file }),
  present: presentUpload,
})

mount(fileRoutes, uploads.completeFileUpload, {
  load: (ctx, { id }) => findUpload(ctx, id),
  handle: (ctx, { resource }) => completeFileUpload(ctx, resource),
  present: presentFile,
  sign: signFile,
  location: ({ id }) => `/v1/files/${id}`,
})

mount(fileRoutes, uploads.abortFileUpload, {
  load: (ctx, { id }) => findUpload(ctx, id),
  handle: (ctx, { resource }) => abortFileUpload(ctx, resource),
  represent: (resource) => presentUpload(resource),
})

mount(fileRoutes, contract.getFile, {
  load: (ctx, { id }) => findFile(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentFile,
  sign: signFile,
})

mount(fileRoutes, contract.updateFile, {
  load: (ctx, { id }) => findFile(ctx, id),
  handle: (ctx, { resource, body }) => updateFile(ctx, resource, body),
  present: presentFile,
  sign: signFile,
})

mount(fileRoutes, contract.deleteFile, {
  load: (ctx, { id }) => findFile(ctx, id),
  handle: (ctx, { resource }) => deleteFile(ctx, resource),
  represent: (resource, ctx) => presentFile(resource, ctx),
})
