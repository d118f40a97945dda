export const segmentRoutes = [] as const
