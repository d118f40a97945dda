import { eq } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { files } from '../../../db/schema/files.ts'
import { select } from '../../../db/select.ts'
import { buildDerivedKey, type DerivedVariant } from '../../../domain/files/addresses.ts'
import type { OpenObject } from '../../../gateways/files/files.ts'
import type { ImageShape, ImagesGateway } from '../../../gateways/images/images.ts'
import type { ServedFile } from './served-file.ts'

const shapes: Record<DerivedVariant, ImageShape> = {
  thumbnail: { width: 200, height: 200, fit: 'crop' },
  optimized: { width: 1200, fit: 'scale-down' },
  large: { width: 2400, fit: 'scale-down' },
}

/** A request waits this long for another request that makes the same variant, then it makes the variant itself. */
const waitMs = 10_000

/** The variants that this isolate is making now. If several isolates make one, the first is stored. */
const runningWork = new Map<string, Promise<void>>()

type VariantSource = Pick<ServedFile, 'storage_key'>

/** False if the last file with these bytes was deleted while the variant was made. */
async function isInUse({ db }: JobCtx, { storage_key }: VariantSource): Promise<boolean> {
  const anyFile = select({ storage_key: files.storage_key })
    .from(files)
    .where(eq(files.storage_key, storage_key))
    .limit(1)
  return (await db.first(anyFile)) !== undefined
}

async function makeVariant(
  job: JobCtx,
  images: ImagesGateway,
  file: VariantSource,
  variant: DerivedVariant,
): Promise<void> {
  const source = await job.files.open(file.storage_key)
  if (!source) throw new Error(`the store has lost the bytes of ${file.storage_key}`)
  const webp = await images.toWebp(source.body, shapes[variant])
  const key = buildDerivedKey(file.storage_key, variant)
  const size = webp.byteLength
  await job.files.put(new Blob([webp]).stream(), { key, size, maxBytes: size, headBytes: 0 })
  if (!(await isInUse(job, file))) await job.files.delete([key])
}

function startWork(key: string, makeVariantOnce: () => Promise<void>): Promise<void> {
  const work = makeVariantOnce().finally(() => runningWork.delete(key))
  runningWork.set(key, work)
  return work
}

/** False if the other request's work takes longer than `waitMs`, for example because its request has died. */
async function endsInTime(work: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs)
  })
  return Promise.race([work.then(() => true), timeout]).finally(() => clearTimeout(timer))
}

export interface VariantRequest {
  file: VariantSource
  variant: DerivedVariant
  images: ImagesGateway
  /** Lets work go on after the request has ended. */
  keepAlive: (work: Promise<unknown>) => void
}

/** Opens a variant, and makes it if it is not stored yet. Parallel requests make it once. */
export async function openVariant(job: JobCtx, request: VariantRequest): Promise<OpenObject | null> {
  const { file, variant, images, keepAlive } = request
  const key = buildDerivedKey(file.storage_key, variant)
  const storedVariant = await job.files.open(key)
  if (storedVariant) return storedVariant
  const otherWork = runningWork.get(key)
  if (!otherWork || !(await endsInTime(otherWork))) {
    const work = startWork(key, () => makeVariant(job, images, file, variant))
    keepAlive(work.catch(() => undefined))
    try {
      await work
    } catch (error) {
      // Another isolate may have stored the variant.
      const otherVariant = await job.files.open(key)
      if (otherVariant) return otherVariant
      throw error
    }
  }
  return job.files.open(key)
}
