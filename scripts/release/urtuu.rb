class Urtuu < Formula
  desc "Send SMS and email, one by one or in bulk from CSV and Excel"
  homepage "{homepage}"
  version "{version}"
  license "MIT"

  on_macos do
    on_arm do
      url "{downloads}/urtuu-{version}-darwin-arm64.tar.xz"
      sha256 "{darwin-arm64}"
    end
    on_intel do
      url "{downloads}/urtuu-{version}-darwin-x64.tar.xz"
      sha256 "{darwin-x64}"
    end
  end

  on_linux do
    on_arm do
      url "{downloads}/urtuu-{version}-linux-arm64.tar.xz"
      sha256 "{linux-arm64}"
    end
    on_intel do
      url "{downloads}/urtuu-{version}-linux-x64.tar.xz"
      sha256 "{linux-x64}"
    end
  end

  def install
    # macOS runs nothing unsigned, and only a Mac can sign.
    system "/usr/bin/codesign", "--force", "--sign", "-", "bin/urtuu" if OS.mac?
    bin.install "bin/urtuu"
    man1.install Dir["share/man/man1/*"]
    man7.install Dir["share/man/man7/*"]
    doc.install Dir["share/doc/urtuu/*"]
    bash_completion.install "share/bash-completion/completions/urtuu"
    zsh_completion.install "share/zsh/site-functions/_urtuu"
    fish_completion.install "share/fish/vendor_completions.d/urtuu.fish"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/urtuu --version").strip
  end
end
