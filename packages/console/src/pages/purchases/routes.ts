export const purchaseRoutes = [] as const
