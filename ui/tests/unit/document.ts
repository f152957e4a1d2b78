// Owns what the tests' document lacks of a browser's: media queries and observers that never report.
class Silent {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
Object.assign(globalThis, {
  ResizeObserver: Silent,
  IntersectionObserver: Silent,
  matchMedia: (media: string) => ({
    media,
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }),
})
