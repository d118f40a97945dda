export interface ImageShape {
  width: number
  height?: number
  /** `crop` fills the shape and cuts what is outside; `scale-down` fits in. Neither makes an image larger. */
  fit: 'crop' | 'scale-down'
}

/** Makes images of another shape. */
export interface ImagesGateway {
  /**
   * One still image as WebP: rotated as its metadata says, and without the metadata. Throws where the image cannot be
   * read, or where the service fails.
   */
  toWebp: (image: ReadableStream<Uint8Array>, shape: ImageShape) => Promise<Uint8Array<ArrayBuffer>>
}
